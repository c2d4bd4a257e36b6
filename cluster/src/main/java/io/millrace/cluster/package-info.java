/**
 * Cluster coordination after the clustering of Logstash: processes that share nothing but versioned
 * documents elect a leader, know each other, divide work and run it.
 *
 * <pre>
 *   work          three kinds: one member alone, supervised, windowed
 *     │
 *   member        leader, member list, partitions and who holds them
 *     │
 *   lock          leases with fencing tokens
 *     │
 *   documents     get, put at a version, delete at a version, list
 *     │
 *   the task store │ flat files │ Elasticsearch and OpenSearch
 * </pre>
 */
@NullMarked
package io.millrace.cluster;

import org.jspecify.annotations.NullMarked;
