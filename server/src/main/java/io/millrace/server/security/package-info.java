/** Access to the server: only from loopback by its names, or with the token. */
@NullMarked
package io.millrace.server.security;

import org.jspecify.annotations.NullMarked;
