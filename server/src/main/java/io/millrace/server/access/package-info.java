/** Principals, keys and roles, over HTTP under {@code /access}. */
@NullMarked
package io.millrace.server.access;

import org.jspecify.annotations.NullMarked;
