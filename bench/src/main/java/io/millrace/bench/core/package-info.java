/**
 * JMH benchmarks of the core without threads and without a disk. Run them with {@code
 * org.openjdk.jmh.Main} on the class path of this module; docs/performance.md shows how.
 */
@NullMarked
package io.millrace.bench.core;

import org.jspecify.annotations.NullMarked;
