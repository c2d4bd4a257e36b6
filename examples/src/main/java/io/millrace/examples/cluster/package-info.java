/**
 * Examples of cluster work.
 *
 * <ul>
 *   <li>{@code files}, windowed: the leader lists the files of a folder, members hash them and
 *       append a line for each to one file, which refuses a line with a smaller fencing token than
 *       an earlier one.
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
 * <p>All of them write to a {@link io.millrace.examples.cluster.LineFile}: a writer holds its lock
 * and has read all lines before, so that it knows what to refuse.
 */
@NullMarked
package io.millrace.examples.cluster;

import org.jspecify.annotations.NullMarked;
