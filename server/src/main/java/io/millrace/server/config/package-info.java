/**
 * The configuration: sections of keys that state their type, range, default and meaning, read from
 * a YAML file and from flags, which take precedence. The server does not start with an unknown key.
 *
 * <p>A part of the system that needs settings declares a {@link
 * io.millrace.server.config.Configuration.Section} of its own and adds it to the list that is read.
 */
@NullMarked
package io.millrace.server.config;

import org.jspecify.annotations.NullMarked;
