/** A demonstration: word count by processes that are killed while they work. */
@NullMarked
package io.millrace.examples.wordcount;

import org.jspecify.annotations.NullMarked;
