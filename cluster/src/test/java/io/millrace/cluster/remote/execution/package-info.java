@NullMarked
package io.millrace.cluster.remote.execution;

import org.jspecify.annotations.NullMarked;
