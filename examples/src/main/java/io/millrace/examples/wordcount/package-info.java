/** A demonstration: words counted by processes that are killed while they work. */
@NullMarked
package io.millrace.examples.wordcount;

import org.jspecify.annotations.NullMarked;
