/**
 * How the bytes of a connection travel: plain, or encrypted by TLS. The rest of the server does not
 * know which.
 */
@NullMarked
package io.millrace.http.transport;

import org.jspecify.annotations.NullMarked;
