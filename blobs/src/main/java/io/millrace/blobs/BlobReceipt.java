package io.millrace.blobs;

/**
 * What a put has stored.
 *
 * @param name the blob's name
 * @param size in bytes, from 0
 * @param sha256 the SHA-256 of its bytes, as 64 lower-case hexadecimal digits
 */
public record BlobReceipt(String name, long size, String sha256) {}
