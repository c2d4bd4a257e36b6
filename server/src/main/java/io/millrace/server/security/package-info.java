/** Who may talk to the server: loopback and its names only, or whoever holds the token. */
@NullMarked
package io.millrace.server.security;

import org.jspecify.annotations.NullMarked;
