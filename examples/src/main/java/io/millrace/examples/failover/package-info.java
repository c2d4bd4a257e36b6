/** A demonstration: servers that share a store take over from each other under load. */
@NullMarked
package io.millrace.examples.failover;

import org.jspecify.annotations.NullMarked;
