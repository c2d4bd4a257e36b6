/**
 * {@code millrace tasks}: submits, searches, follows and changes queue tasks.
 *
 * <p>A submission reads its params one by one from a {@link io.millrace.cli.tasks.ParamsSource} and
 * sends them in chunks, so that a file may be larger than memory.
 */
@NullMarked
package io.millrace.cli.tasks;

import org.jspecify.annotations.NullMarked;
