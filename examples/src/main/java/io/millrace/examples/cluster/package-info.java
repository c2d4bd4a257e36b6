/**
 * Examples of cluster work.
 *
 * <ul>
 *   <li>{@code files}, windowed: the leader lists the files of a folder, and members hash them and
 *       append a line for each to one file. The file refuses a line with a smaller fencing token
 *       than an earlier one.
 *   <li>{@code port}, cannot be divided: one member listens on a port and appends received lines to
 *       a file, whose fencing tokens never decrease.
 *   <li>{@code topic}, supervised: the files of a folder are divided among the workers, which
 *       follow them as they grow and append each line once to one file.
 *   <li>{@code listing}, remote: like {@code files}, with a lambda for each file, which the leader
 *       sends to an idle member.
 *   <li>{@code feed}, remote: like {@code topic}, with a lambda for each worker, which runs until
 *       members change.
 * </ul>
 *
 * <p>All of them write to a {@link io.millrace.examples.cluster.LineFile}: a writer holds its lock
 * and has read all earlier lines, so it knows which lines to refuse.
 */
@NullMarked
package io.millrace.examples.cluster;

import org.jspecify.annotations.NullMarked;
