/** The dashboard: a page in the browser, served by every server. */
@NullMarked
package io.millrace.server.dashboard;

import org.jspecify.annotations.NullMarked;
