@NullMarked
package io.millrace.cluster.remote.backlog;

import org.jspecify.annotations.NullMarked;
