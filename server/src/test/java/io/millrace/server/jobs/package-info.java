@NullMarked
package io.millrace.server.jobs;

import org.jspecify.annotations.NullMarked;
