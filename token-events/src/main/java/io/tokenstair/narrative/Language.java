package io.tokenstair.narrative;

/** A language that sentences are told in. */
public enum Language {
    /** English, what archives hold. */
    EN,
    /** Chinese. */
    ZH
}
