/** Access to the server: who shows which credentials, and from where requests are served. */
@NullMarked
package io.millrace.server.security;

import org.jspecify.annotations.NullMarked;
