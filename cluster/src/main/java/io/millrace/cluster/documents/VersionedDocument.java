package io.millrace.cluster.documents;

/**
 * A document at one version.
 *
 * @param key the key of the document
 * @param version its version, never {@link Version#NONE}
 * @param json its content, a JSON object
 */
public record VersionedDocument(String key, Version version, String json) {}
