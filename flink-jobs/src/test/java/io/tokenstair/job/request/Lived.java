package io.tokenstair.job.request;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import java.util.ArrayList;
import java.util.List;

/** What the life of a request said. */
public final class Lived implements RequestOutput {
    public final List<TokenAnalysis> tokens = new ArrayList<>();
    public final List<RequestAnalysis> requests = new ArrayList<>();
    public final List<Finding> findings = new ArrayList<>();
    public final List<Milestone> milestones = new ArrayList<>();

    @Override
    public void token(TokenAnalysis token) {
        tokens.add(token);
    }

    @Override
    public void request(RequestAnalysis request) {
        requests.add(request);
    }

    @Override
    public void finding(Finding finding) {
        findings.add(finding);
    }

    @Override
    public void milestone(Milestone milestone) {
        milestones.add(milestone);
    }

    /** The one request row there is. */
    public RequestAnalysis request() {
        if (requests.size() != 1) {
            throw new AssertionError("not one request row: " + requests);
        }
        return requests.get(0);
    }

    /** A token of the first sequence of the first use. */
    public TokenAnalysis token(int index) {
        return tokens.stream()
                .filter(token -> token.lifetime() == 0 && token.sequenceIndex() == 0 && token.tokenIndex() == index)
                .findFirst()
                .orElseThrow(() -> new AssertionError("no token " + index));
    }

    /** Findings of a cause. */
    public List<Finding> findings(String cause) {
        return findings.stream()
                .filter(finding -> finding.cause().equals(cause))
                .toList();
    }

    /** Milestones of a kind. */
    public List<Milestone> milestones(MilestoneKind kind) {
        return milestones.stream()
                .filter(milestone -> milestone.milestoneKind() == kind)
                .toList();
    }

    /** Everything it said, in its order. */
    public List<String> said() {
        List<String> said = new ArrayList<>();
        tokens.forEach(token -> said.add(token.toString()));
        requests.forEach(request -> said.add(request.toString()));
        findings.forEach(finding -> said.add(finding.toString()));
        milestones.forEach(milestone -> said.add(milestone.toString()));
        return said;
    }
}
