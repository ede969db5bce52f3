package io.tokenstair.collect.importer;

import java.nio.file.Path;

/** Hears how an import goes. */
public interface ImportListener {
    /** A layer has read so many records; called now and then. */
    void progress(String layer, long read);

    /** A layer is not in an input. */
    void missing(String layer, String files, Path folder);

    /** Something about an input that its counts do not say, as a line. */
    default void said(String line) {}
}
