/**
 * Who may use a server. A {@link io.millrace.access.Principal} is a program or a person; it has
 * {@link io.millrace.access.Role roles}, a {@link io.millrace.access.Reach} that limits them, any
 * number of keys, and perhaps a password.
 *
 * <ul>
 *   <li>{@link io.millrace.access.AccessRegistry} creates, changes, lists and revokes them, as
 *       documents of the store; each change is one transaction.
 *   <li>{@link io.millrace.access.AccessDirectory} verifies credentials against a copy in memory,
 *       so that a request costs a lookup and a hash. What it answers is a {@link
 *       io.millrace.access.Grant}, which tells when it ends.
 * </ul>
 */
@NullMarked
package io.millrace.access;

import org.jspecify.annotations.NullMarked;
