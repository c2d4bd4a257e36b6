/** A store that is divided into shards, whose leaders are spread over the servers that share it. */
@NullMarked
package io.millrace.server.shards;

import org.jspecify.annotations.NullMarked;
