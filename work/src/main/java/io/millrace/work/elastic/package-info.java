/** Requests to Elasticsearch 8 or OpenSearch 3, over the REST API that both have. */
@NullMarked
package io.millrace.work.elastic;

import org.jspecify.annotations.NullMarked;
