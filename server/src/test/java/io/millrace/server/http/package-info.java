/** Tests of HTTP on the sockets of a server: requests that are unusual, malformed or too many. */
@NullMarked
package io.millrace.server.http;

import org.jspecify.annotations.NullMarked;
