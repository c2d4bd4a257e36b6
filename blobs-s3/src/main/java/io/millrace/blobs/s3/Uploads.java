package io.millrace.blobs.s3;

import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobName;
import io.millrace.s3.S3Address;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.ListMultipartUploadsResponse;
import software.amazon.awssdk.services.s3.model.MultipartUpload;

/** Multipart uploads of blobs: those that end, and those that did not. Thread-safe. */
final class Uploads {
  /** The most parts that an upload may have. */
  static final int MOST_PARTS = 10_000;

  private static final Logger LOG = LoggerFactory.getLogger(Uploads.class);

  private static final Duration ABANDONED_AFTER = Duration.ofHours(24);

  /** An upload that takes longer is remembered with its end, for {@link #ABANDONED_AFTER}. */
  private static final Duration LONG_UPLOAD = Duration.ofMinutes(1);

  private final S3Client client;
  private final String bucket;
  private final String prefix;
  private final InstantSource clock;

  /** When long uploads ended, by the names of their blobs. */
  private final Map<String, Instant> ends = new ConcurrentHashMap<>();

  Uploads(S3Client client, S3Address address, InstantSource clock) {
    this.client = client;
    this.bucket = address.bucket();
    this.prefix = S3BlobStore.prefix(address);
    this.clock = clock;
  }

  /** The parts of an upload, which are sent one after the other. */
  final class Parts {
    private final String name;
    private final String key;
    private final String id;
    private final List<CompletedPart> arrived = new ArrayList<>();

    private Parts(String name) {
      this.name = name;
      this.key = prefix + name;
      this.id = client.createMultipartUpload(request -> request.bucket(bucket).key(key)).uploadId();
    }

    /** Sends a part; its bytes may change afterwards. */
    void send(RequestBody body) {
      add(number ->
          client
              .uploadPart(
                  request -> request.bucket(bucket).key(key).uploadId(id).partNumber(number), body)
              .eTag());
    }

    /**
     * Copies a part of another blob.
     *
     * @param tag the entity tag that this blob must have
     * @param first its first byte
     * @param last its last byte
     */
    void copy(String from, String tag, long first, long last) {
      add(number ->
          client
              .uploadPartCopy(request ->
                  request
                      .sourceBucket(bucket)
                      .sourceKey(prefix + from)
                      .copySourceIfMatch(tag)
                      .copySourceRange("bytes=" + first + "-" + last)
                      .destinationBucket(bucket)
                      .destinationKey(key)
                      .uploadId(id)
                      .partNumber(number))
              .copyPartResult()
              .eTag());
    }

    /** Adds a part: its number, from 1, leads to its entity tag. */
    private void add(Function<Integer, String> sending) {
      int number = arrived.size() + 1;
      if (number > MOST_PARTS) {
        throw new BlobException("blob " + name + " is longer than is allowed");
      }
      String tag = sending.apply(number);
      arrived.add(CompletedPart.builder().partNumber(number).eTag(tag).build());
    }

    private void complete() {
      client.completeMultipartUpload(request ->
          request
              .bucket(bucket)
              .key(key)
              .uploadId(id)
              .multipartUpload(upload -> upload.parts(arrived)));
    }
  }

  /** Sends the parts of one upload. */
  interface Filling {
    void fill(Parts parts) throws IOException;
  }

  /** Makes a blob of parts; if that fails, nothing is left of them. */
  void make(String name, Filling filling) throws IOException {
    Instant begun = clock.instant();
    Parts parts = new Parts(name);
    boolean complete = false;
    try {
      filling.fill(parts);
      noteEnd(name, begun);
      parts.complete();
      complete = true;
    } finally {
      if (!complete) {
        abort(parts.key, parts.id);
      }
    }
  }

  /** Before the blob can be listed, lest it looks old then. */
  private void noteEnd(String name, Instant begun) {
    Instant now = clock.instant();
    if (begun.plus(LONG_UPLOAD).isBefore(now)) {
      Instant limit = now.minus(ABANDONED_AFTER);
      ends.values().removeIf(end -> end.isBefore(limit));
      ends.put(name, now);
    }
  }

  /** When the blob was put: at the end of a long upload, or when the bucket says. */
  Instant endOf(String name, Instant modified) {
    Instant end = ends.get(name);
    return end != null && end.isAfter(modified) ? end : modified;
  }

  /** A blob has been deleted. */
  void forget(String name) {
    ends.remove(name);
  }

  private void abort(String key, String id) {
    try {
      client.abortMultipartUpload(request -> request.bucket(bucket).key(key).uploadId(id));
    } catch (SdkException e) {
      if (!S3BlobStore.isMissing(e)) {
        LOG.warn("the upload of {} stays until leftovers are removed: {}", key, e.getMessage());
      }
    }
  }

  /** Aborts uploads that began 24 hours ago. */
  void abortOld(Instant now) {
    Instant limit = now.minus(ABANDONED_AFTER);
    String keyMarker = null;
    String idMarker = null;
    boolean more = true;
    while (more) {
      String fromKey = keyMarker;
      String fromId = idMarker;
      ListMultipartUploadsResponse page =
          client.listMultipartUploads(request ->
              request
                  .bucket(bucket)
                  .prefix(prefix.isEmpty() ? null : prefix)
                  .keyMarker(fromKey)
                  .uploadIdMarker(fromId));
      for (MultipartUpload upload : page.uploads()) {
        boolean ours =
            upload.key().startsWith(prefix)
                && BlobName.isValid(upload.key().substring(prefix.length()));
        if (ours && upload.initiated().isBefore(limit)) {
          abort(upload.key(), upload.uploadId());
          LOG.info("aborted the upload of {}, left by a put that did not end", upload.key());
        }
      }
      keyMarker = page.nextKeyMarker();
      idMarker = page.nextUploadIdMarker();
      more = Boolean.TRUE.equals(page.isTruncated());
    }
  }
}
