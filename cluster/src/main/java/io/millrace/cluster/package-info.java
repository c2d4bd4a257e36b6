/**
 * Cluster coordination. Processes that share nothing but versioned documents elect a leader, keep a
 * list of members, divide work and do it. The model is the clustering of Logstash.
 *
 * <pre>
 *   shared                     named locks, semaphores and status reports for users' code
 *     │
 *   remote                     lambdas that the leader's program sends to members
 *     │
 *   member                     one process of a cluster, with everything below
 *     │
 *   leader ──── work           the leader assigns work, of one of three kinds
 *     │
 *   partition                  the parts of work, and the members that work on them
 *     │
 *   membership                 the list of members
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
