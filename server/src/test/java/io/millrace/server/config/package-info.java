/** Tests of the configuration. */
@NullMarked
package io.millrace.server.config;

import org.jspecify.annotations.NullMarked;
