/**
 * Cluster coordination after the clustering of Logstash: processes that share nothing but versioned
 * documents elect a leader, know each other, divide work and run it.
 *
 * <pre>
 *   shared                     locks by name, semaphores and reports, for the work itself
 *     │
 *   remote                     lambdas that the leader has members run
 *     │
 *   member                     one process of a cluster: all of what follows
 *     │
 *   leader ──── work           who gives out work, of three kinds
 *     │
 *   partition                  the parts of work, and who works on them
 *     │
 *   membership                 who is there
 *     │
 *   lock                       leases with fencing tokens
 *     │
 *   documents                  get, put at a version, delete at a version, list
 *     │
 *   the task store │ flat files │ Elasticsearch and OpenSearch
 * </pre>
 */
@NullMarked
package io.millrace.cluster;

import org.jspecify.annotations.NullMarked;
