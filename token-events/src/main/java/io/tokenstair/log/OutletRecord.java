package io.tokenstair.log;

import io.tokenstair.event.LoggedEvent;

/**
 * A record on its way from a collector to the log.
 *
 * @param feed whose it is
 * @param logged the event with its header
 * @param own true for what the outlet itself says (gaps, losses, clock readings), which is not counted as offered
 */
record OutletRecord(CollectorFeed feed, LoggedEvent logged, boolean own) {

    /** Number of the record among those of its collector and epoch. */
    long sequence() {
        return logged.header().sequence();
    }
}
