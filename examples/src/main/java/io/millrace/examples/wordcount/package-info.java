/** A demonstration: counts words in processes that are killed while they work. */
@NullMarked
package io.millrace.examples.wordcount;

import org.jspecify.annotations.NullMarked;
