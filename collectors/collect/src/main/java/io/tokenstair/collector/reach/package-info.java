/** What {@code tokenstair doctor} looks at: addresses, ports, files and logs, without any effect on an engine. */
@NullMarked
package io.tokenstair.collector.reach;

import org.jspecify.annotations.NullMarked;
