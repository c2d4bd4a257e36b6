/**
 * Worked examples of what a cluster can do.
 *
 * <ul>
 *   <li>{@code files}, windowed: the leader lists the files of a folder, members hash them and
 *       append a line for each to one file, which takes no line with a smaller fencing token after
 *       one with a larger.
 *   <li>{@code port}, cannot be divided: one member listens on a port and appends what comes to a
 *       file, whose fencing tokens never go back.
 *   <li>{@code topic}, supervised: the files of a folder are divided over the workers, who follow
 *       them as they grow and append each line once to one file.
 *   <li>{@code listing}, remote: as {@code files}, by a lambda for each file that the leader has an
 *       idle member run.
 *   <li>{@code feed}, remote: as {@code topic}, by a lambda for each worker that goes on until
 *       members change.
 * </ul>
 *
 * <p>All of them write to a {@link io.millrace.examples.cluster.LineFile}: whoever appends holds
 * its lock and knows all lines before, and so what must be refused.
 */
@NullMarked
package io.millrace.examples.cluster;

import org.jspecify.annotations.NullMarked;
