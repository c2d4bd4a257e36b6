package io.millrace.cluster.documents;

/**
 * A document at one version.
 *
 * @param key its name
 * @param version its version, never {@link Version#NONE}
 * @param json its content, an object of JSON
 */
public record VersionedDocument(String key, Version version, String json) {}
