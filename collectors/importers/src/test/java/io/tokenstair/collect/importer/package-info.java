@NullMarked
package io.tokenstair.collect.importer;

import org.jspecify.annotations.NullMarked;
