/** The archive of finished work: its settings, what moves work into it, and its API. */
@NullMarked
package io.millrace.server.archive;

import org.jspecify.annotations.NullMarked;
