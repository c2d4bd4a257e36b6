package io.millrace.blobs.s3;

import io.millrace.blobs.Blob;
import io.millrace.blobs.BlobContent;
import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobName;
import io.millrace.blobs.BlobReceipt;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.BlobStream;
import io.millrace.blobs.NoSuchBlobException;
import io.millrace.s3.S3Address;
import io.millrace.s3.S3AddressException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.MetadataDirective;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;

/**
 * Blobs as objects of a bucket, each with the key {@code PREFIX/NAME}. Several stores, in this
 * process or another, may share it.
 *
 * <p>A blob of up to one part (8 MiB) is stored by one request, a longer one by a multipart upload,
 * whose parts are sent one after the other. A put of more than 256 KiB needs a buffer of one part;
 * buffers take at most an eighth of the heap, and a put that gets none for 30 s fails. What ends in
 * the middle is aborted, or, if this process ends too, by {@link #removeLeftovers}.
 *
 * <p>An open stream is one request. If its connection breaks, it is continued from its position, if
 * the object is still the same. So a blob that is replaced or deleted while it is read can be read
 * to its end as long as the connection lasts; if it breaks then, reading fails. There is never a
 * mixture.
 *
 * <p>Of several puts or deletes under one name at the same time, a bucket may let that one win that
 * <em>began</em> last, if one of them is a multipart upload. Amazon also dates an object by the
 * beginning of its upload: {@link #list} shows the end, if the upload took longer than a minute and
 * went through this object within a day.
 */
public final class S3BlobStore implements BlobStore {
  /** The longest blob that a bucket holds. */
  public static final long MAX_BLOB_BYTES = 5L << 40;

  private static final Duration SILENCE = Duration.ofSeconds(30);

  /** How long a request may take with all its repetitions, until its answer begins. */
  private static final Duration LONGEST_REQUEST = Duration.ofMinutes(10);

  private static final int CONNECTIONS = 1_000;
  private static final int USUAL_PART_BYTES = 8 << 20;

  /** Up to this size, a put needs no buffer of a part. */
  private static final int SMALL = 256 << 10;

  private static final int NOT_FOUND = 404;
  private static final int NO_SUCH_RANGE = 416;

  /**
   * How blobs are divided.
   *
   * @param partBytes the size of a part
   * @param buffers how many parts are in memory at once
   * @param patience how long a put waits for one of these
   * @param copyBytes what is copied by one request, at most 5 GiB
   */
  record Limits(int partBytes, int buffers, Duration patience, long copyBytes) {
    static Limits of(long maxBytes) {
      int part =
          Math.toIntExact(
              Math.max(
                  USUAL_PART_BYTES,
                  Math.ceilDiv(Math.ceilDiv(maxBytes, Uploads.MOST_PARTS), 1L << 20) << 20));
      long heap = Runtime.getRuntime().maxMemory();
      return new Limits(part, Math.clamp(heap / 8 / part, 2, 64), Duration.ofSeconds(30), 4L << 30);
    }
  }

  private final S3Address address;
  private final String prefix;
  private final Limits limits;
  private final S3Client client;
  private final Semaphore buffers;
  private final Duration linkTime;

  /** Signs links; null if there are none. */
  private final @Nullable S3Presigner presigner;

  private final Uploads uploads;

  S3BlobStore(S3Address address, Limits limits, Duration linkTime, InstantSource clock) {
    this.linkTime = linkTime;
    this.presigner = linkTime.isZero() ? null : address.newPresigner();
    this.address = address;
    this.prefix = prefix(address);
    this.limits = limits;
    this.buffers = new Semaphore(limits.buffers());
    this.client =
        address
            .newClient(SILENCE, CONNECTIONS)
            .overrideConfiguration(override -> override.apiCallTimeout(LONGEST_REQUEST))
            .build();
    this.uploads = new Uploads(client, address, clock);
  }

  /**
   * Opens the store. Nothing is sent to the bucket yet; see {@link #check}.
   *
   * @param maxBytes the longest blob that is put; from 78 GiB on, parts are larger
   * @param linkTime how long {@linkplain #publicLink links} can be used, at most 7 days; zero for
   *     no links
   * @throws IllegalArgumentException if a blob may be longer than {@link #MAX_BLOB_BYTES}
   */
  public static S3BlobStore open(S3Address address, long maxBytes, Duration linkTime) {
    if (maxBytes > MAX_BLOB_BYTES) {
      throw new IllegalArgumentException("a bucket has no blobs of " + maxBytes + " bytes");
    }
    return new S3BlobStore(address, Limits.of(maxBytes), linkTime, InstantSource.system());
  }

  /**
   * Checks that the bucket is there and can be read, without changing it.
   *
   * @throws BlobException if not; the message says what is wrong
   */
  public void check() {
    try {
      address.check(client);
    } catch (S3AddressException e) {
      throw new BlobException(String.valueOf(e.getMessage()), e);
    } catch (IOException e) {
      throw new BlobException(address + " cannot be reached: " + e.getMessage(), e);
    }
  }

  /** What the keys of all blobs begin with. */
  static String prefix(S3Address address) {
    return address.prefix().isEmpty() ? "" : address.prefix() + "/";
  }

  private String key(String name) {
    return prefix + name;
  }

  private BlobException failure(String what, SdkException e) {
    return new BlobException(what + " (" + address + "): " + S3Address.failure(e).getMessage(), e);
  }

  static boolean isMissing(SdkException e) {
    return e instanceof S3Exception answer
        && answer.statusCode() == NOT_FOUND
        && (answer.awsErrorDetails() == null
            || !"NoSuchBucket".equals(answer.awsErrorDetails().errorCode()));
  }

  // ---- putting

  @Override
  public BlobReceipt put(String name, InputStream content) {
    BlobName.check(name);
    BlobContent source = new BlobContent(content);
    try {
      byte[] start = source.readNBytes(SMALL);
      if (start.length < SMALL) {
        putWhole(name, start, start.length);
      } else {
        putLarge(name, start, source);
      }
      return source.receipt(name);
    } catch (IOException e) {
      throw new BlobException("blob " + name + ", its content could not be read: " + e, e);
    } catch (SdkException e) {
      throw failure("blob " + name + ", its content cannot be written", e);
    }
  }

  private void putLarge(String name, byte[] start, BlobContent source) throws IOException {
    acquireBuffer(name);
    try {
      byte[] part = Arrays.copyOf(start, limits.partBytes());
      int length = start.length + source.readNBytes(part, start.length, part.length - start.length);
      if (length < part.length) {
        putWhole(name, part, length);
      } else {
        uploads.make(name, parts -> putParts(part, source, parts));
      }
    } finally {
      buffers.release();
    }
  }

  private void acquireBuffer(String name) {
    try {
      if (!buffers.tryAcquire(limits.patience().toMillis(), TimeUnit.MILLISECONDS)) {
        throw new BlobException(
            "blob %s cannot be stored now: %d others of more than %d KiB are being stored"
                .formatted(name, limits.buffers(), SMALL >> 10));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BlobException("blob " + name + " is not stored: interrupted", e);
    }
  }

  private void putWhole(String name, byte[] bytes, int length) {
    client.putObject(
        request -> request.bucket(address.bucket()).key(key(name)), body(bytes, length));
  }

  /** Not a copy: the bytes stay until the request has ended. */
  private static RequestBody body(byte[] bytes, int length) {
    return RequestBody.fromContentProvider(
        () -> new ByteArrayInputStream(bytes, 0, length), length, "application/octet-stream");
  }

  private static void putParts(byte[] part, BlobContent source, Uploads.Parts parts)
      throws IOException {
    int length = part.length;
    while (length > 0) {
      parts.send(body(part, length));
      length = length < part.length ? 0 : source.readNBytes(part, 0, part.length);
    }
  }

  /** Aborts uploads that began 24 hours ago; a put that takes longer fails. */
  @Override
  public void removeLeftovers(Instant now) {
    try {
      uploads.abortOld(now);
    } catch (SdkException e) {
      throw failure("uploads that did not end cannot be listed", e);
    }
  }

  @Override
  public boolean link(String from, String to) {
    BlobName.check(from);
    BlobName.check(to);
    try {
      HeadObjectResponse source = head(from);
      if (source == null) {
        throw new NoSuchBlobException(from);
      }
      if (source.contentLength() <= limits.copyBytes()) {
        client.copyObject(request ->
            request
                .sourceBucket(address.bucket())
                .sourceKey(key(from))
                .destinationBucket(address.bucket())
                .destinationKey(key(to))
                // An object can be copied onto itself only with other metadata.
                .metadataDirective(MetadataDirective.REPLACE));
      } else {
        uploads.make(to, parts -> copyParts(from, source, parts));
      }
      return true;
    } catch (SdkException e) {
      if (isMissing(e)) {
        throw new NoSuchBlobException(from);
      }
      throw failure("blob " + from + " cannot be copied to " + to, e);
    } catch (IOException e) {
      throw new BlobException("blob " + from + " cannot be copied to " + to, e);
    }
  }

  private void copyParts(String from, HeadObjectResponse source, Uploads.Parts parts) {
    long size = source.contentLength();
    for (long at = 0; at < size; at += limits.copyBytes()) {
      parts.copy(from, source.eTag(), at, Math.min(at + limits.copyBytes(), size) - 1);
    }
  }

  // ---- reading

  @Override
  public BlobStream open(String name, long offset) {
    BlobName.check(name);
    if (offset < 0) {
      throw new IllegalArgumentException("the offset is negative: " + offset);
    }
    try {
      ResponseInputStream<GetObjectResponse> bytes = get(name, offset, null);
      if (bytes != null) {
        long size = sizeOf(bytes.response());
        return new BlobStream(
            new ObjectStream(
                name, offset, size, bytes, from -> get(name, from, bytes.response().eTag())),
            size);
      }
      HeadObjectResponse past = head(name);
      if (past == null) {
        throw new NoSuchBlobException(name);
      }
      return past.contentLength() > offset
          // It was replaced by a longer one meanwhile.
          ? open(name, offset)
          : new BlobStream(InputStream.nullInputStream(), past.contentLength());
    } catch (SdkException e) {
      if (isMissing(e)) {
        throw new NoSuchBlobException(name);
      }
      throw failure("blob " + name + " cannot be opened", e);
    }
  }

  /**
   * Begins to read an object.
   *
   * @param tag of the object that it is to be; null for any
   * @return null if it ends at or before the offset
   */
  private @Nullable ResponseInputStream<GetObjectResponse> get(
      String name, long offset, @Nullable String tag) {
    try {
      return client.getObject(request ->
          request
              .bucket(address.bucket())
              .key(key(name))
              .range(offset == 0 ? null : "bytes=" + offset + "-")
              .ifMatch(tag));
    } catch (S3Exception e) {
      if (e.statusCode() == NO_SUCH_RANGE) {
        return null;
      }
      throw e;
    }
  }

  /** The size of the whole object, of which this may be the answer for a part. */
  private static long sizeOf(GetObjectResponse response) {
    String range = response.contentRange();
    return range == null
        ? response.contentLength()
        : Long.parseLong(range.substring(range.lastIndexOf('/') + 1));
  }

  private @Nullable HeadObjectResponse head(String name) {
    try {
      return client.headObject(request -> request.bucket(address.bucket()).key(key(name)));
    } catch (S3Exception e) {
      if (e.statusCode() == NOT_FOUND) {
        return null;
      }
      throw e;
    }
  }

  @Override
  public Optional<URI> publicLink(String name) {
    BlobName.check(name);
    if (presigner == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          URI.create(
              presigner
                  .presignGetObject(request ->
                      request
                          .signatureDuration(linkTime)
                          .getObjectRequest(get -> get.bucket(address.bucket()).key(key(name))))
                  .url()
                  .toString()));
    } catch (SdkException e) {
      throw failure("no link to blob " + name + " can be made", e);
    }
  }

  @Override
  public OptionalLong size(String name) {
    BlobName.check(name);
    try {
      HeadObjectResponse object = head(name);
      return object == null ? OptionalLong.empty() : OptionalLong.of(object.contentLength());
    } catch (SdkException e) {
      throw failure("the size of blob " + name + " cannot be read", e);
    }
  }

  @Override
  public boolean delete(String name) {
    BlobName.check(name);
    try {
      if (head(name) == null) {
        return false;
      }
      client.deleteObject(request -> request.bucket(address.bucket()).key(key(name)));
      uploads.forget(name);
      return true;
    } catch (SdkException e) {
      throw failure("blob " + name + " cannot be deleted", e);
    }
  }

  @Override
  public Stream<Blob> list(String namePrefix) {
    BlobName.checkPrefix(namePrefix);
    return Stream.iterate(
            page(namePrefix, null),
            Objects::nonNull,
            page ->
                page != null && Boolean.TRUE.equals(page.isTruncated())
                    ? page(namePrefix, page.nextContinuationToken())
                    : null)
        .flatMap(page -> page == null ? Stream.empty() : page.contents().stream())
        .filter(object -> BlobName.isValid(object.key().substring(prefix.length())))
        .map(this::describe);
  }

  private @Nullable ListObjectsV2Response page(String namePrefix, @Nullable String token) {
    try {
      return client.listObjectsV2(request ->
          request
              .bucket(address.bucket())
              .prefix(key(namePrefix))
              // The journal of a store may be below the same prefix.
              .delimiter("/")
              .continuationToken(token));
    } catch (SdkException e) {
      throw failure("blobs cannot be listed", e);
    }
  }

  private Blob describe(S3Object object) {
    String name = object.key().substring(prefix.length());
    return new Blob(name, object.size(), uploads.endOf(name, object.lastModified()));
  }

  @Override
  public void close() {
    if (presigner != null) {
      presigner.close();
    }
    client.close();
  }
}
