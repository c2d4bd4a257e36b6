/**
 * Worked examples of what a cluster can do. {@code files}: the leader lists the files of a folder,
 * members hash them and append a line for each to one file, which takes no line with a smaller
 * fencing token after one with a larger.
 */
@NullMarked
package io.millrace.cluster.example;

import org.jspecify.annotations.NullMarked;
