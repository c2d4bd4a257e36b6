/** The journal of a store in an index of Elasticsearch or OpenSearch. Experimental. */
@NullMarked
package io.millrace.journal.elastic;

import org.jspecify.annotations.NullMarked;
