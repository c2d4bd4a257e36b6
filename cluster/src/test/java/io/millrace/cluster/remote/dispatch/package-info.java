@NullMarked
package io.millrace.cluster.remote.dispatch;

import org.jspecify.annotations.NullMarked;
