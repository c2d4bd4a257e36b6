/** Tests of access. */
@NullMarked
package io.millrace.server.security;

import org.jspecify.annotations.NullMarked;
