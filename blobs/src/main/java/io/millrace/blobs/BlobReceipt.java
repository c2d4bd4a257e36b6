package io.millrace.blobs;

/**
 * The result of a put.
 *
 * @param name the blob's name
 * @param size its size in bytes
 * @param sha256 the SHA-256 of its bytes, as 64 lower-case hexadecimal digits
 */
public record BlobReceipt(String name, long size, String sha256) {}
