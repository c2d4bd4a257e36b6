@NullMarked
package io.millrace.cluster.remote;

import org.jspecify.annotations.NullMarked;
