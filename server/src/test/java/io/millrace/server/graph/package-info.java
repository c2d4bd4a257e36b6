@NullMarked
package io.millrace.server.graph;

import org.jspecify.annotations.NullMarked;
