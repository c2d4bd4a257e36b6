package io.millrace.cli.cluster;

import io.millrace.cluster.documents.VersionedDocuments;

/**
 * What the duty of a member is made with.
 *
 * @param documents what all members share
 * @param remote what it brings with it for remote work
 */
record Means(VersionedDocuments documents, Remote remote) {}
