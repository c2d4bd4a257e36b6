/**
 * Versioned documents in Elasticsearch 8 or OpenSearch 3, over the REST API that both have.
 *
 * <p>The documents of a cluster are in one index, by their keys. A version is the sequence number
 * and the primary term that the engine gave to the last change; a document is created with {@code
 * _create} and changed with {@code if_seq_no} and {@code if_primary_term}. Reading a document is
 * real-time; a listing is a search and shows refreshed changes only.
 */
@NullMarked
package io.millrace.cluster.documents.elastic;

import org.jspecify.annotations.NullMarked;
