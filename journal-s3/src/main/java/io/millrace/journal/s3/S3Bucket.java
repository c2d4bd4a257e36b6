package io.millrace.journal.s3;

import io.millrace.journal.shared.Bucket;
import io.millrace.s3.S3Address;
import io.millrace.s3.S3AddressException;
import io.millrace.store.journal.JournalException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ExpirationStatus;
import software.amazon.awssdk.services.s3.model.LifecycleRule;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;

/** A bucket that is reached by the protocol of Amazon S3. */
final class S3Bucket implements Bucket {
  private static final Logger LOG = LoggerFactory.getLogger(S3Bucket.class);

  /** After this long without an answer, a request counts as lost. */
  private static final Duration SILENCE = Duration.ofSeconds(15);

  private static final int CONNECTIONS = 50;

  /** How often a request is sent that may be repeated, if its connection fails. */
  private static final int ATTEMPTS = 3;

  /** The buckets of which this process knows that they keep conditions, by endpoint. */
  private static final Set<List<String>> TRIED = ConcurrentHashMap.newKeySet();

  private static final int FAILED_CONDITION = 412;
  private static final int NOT_FOUND = 404;

  private final S3JournalOptions options;
  private final String bucket;
  private final String prefix;
  private @Nullable S3Client client;

  S3Bucket(S3JournalOptions options) {
    S3Address address = options.address();
    this.options = options;
    this.bucket = address.bucket();
    this.prefix =
        (address.prefix().isEmpty() ? "" : address.prefix() + "/") + options.store() + "/";
  }

  private synchronized S3Client client() {
    S3Client open = client;
    if (open == null) {
      open =
          options
              .address()
              .newClient(SILENCE, CONNECTIONS)
              // A create that the client repeats by itself is refused because of its own object.
              .overrideConfiguration(override ->
                  override.retryStrategy(AwsRetryStrategy.doNotRetry()).apiCallTimeout(SILENCE))
              .build();
      client = open;
    }
    return open;
  }

  /** Sends a request that may be repeated, again if its connection fails. */
  private static <T extends @Nullable Object> T call(Supplier<T> request) throws IOException {
    for (int attempt = 1; ; attempt++) {
      try {
        return request.get();
      } catch (S3Exception e) {
        throw S3Address.failure(e);
      } catch (SdkException e) {
        if (attempt == ATTEMPTS) {
          throw S3Address.failure(e);
        }
      }
    }
  }

  @Override
  public void check() throws IOException {
    try {
      options.address().check(client());
    } catch (S3AddressException e) {
      throw new JournalException(String.valueOf(e.getMessage()), e);
    }
    if (options.accepted().contains(S3JournalOptions.EXPIRY)) {
      return;
    }
    try {
      for (LifecycleRule rule :
          client().getBucketLifecycleConfiguration(request -> request.bucket(bucket)).rules()) {
        if (rule.status() == ExpirationStatus.ENABLED && rule.expiration() != null) {
          throw new JournalException(
              "rule '%s' of bucket %s deletes objects by their age, so that commits may be lost;"
                      .formatted(rule.id(), bucket)
                  + " remove it, or accept it by store.accept = expiry if it is for other keys");
        }
      }
    } catch (S3Exception e) {
      if (e.statusCode() != NOT_FOUND) {
        LOG.info(
            "the rules of bucket {} that may delete objects cannot be read: status {}",
            bucket,
            e.statusCode());
      }
    } catch (SdkException e) {
      throw S3Address.failure(e);
    }
  }

  @Override
  public void prepare() throws IOException {
    check();
    List<String> tried = List.of(String.valueOf(options.address().endpoint()), bucket);
    if (!TRIED.contains(tried)) {
      Bucket.requireOneWinner(this, options.toString());
      TRIED.add(tried);
    }
  }

  @Override
  public boolean create(String key, byte[] content) throws IOException {
    try {
      client()
          .putObject(
              request -> request.bucket(bucket).key(prefix + key).ifNoneMatch("*"),
              RequestBody.fromBytes(content));
      return true;
    } catch (S3Exception e) {
      if (e.statusCode() == FAILED_CONDITION) {
        return false;
      }
      throw new IOException("status " + e.statusCode() + " for " + key, e);
    } catch (SdkException e) {
      throw S3Address.failure(e);
    }
  }

  @Override
  public void put(String key, byte[] content) throws IOException {
    call(() ->
        client()
            .putObject(
                request -> request.bucket(bucket).key(prefix + key),
                RequestBody.fromBytes(content)));
  }

  @Override
  public byte @Nullable [] get(String key) throws IOException {
    return S3Bucket.<byte @Nullable []>call(() -> {
      try {
        return client()
            .getObjectAsBytes(request -> request.bucket(bucket).key(prefix + key))
            .asByteArrayUnsafe();
      } catch (NoSuchKeyException _) {
        return null;
      }
    });
  }

  @Override
  public List<byte @Nullable []> getAll(List<String> keys) throws IOException {
    return Bucket.getAtOnce(this, keys);
  }

  @Override
  public List<String> list(String from, String after, int most) throws IOException {
    return call(() ->
        client()
            .listObjectsV2(request -> {
              request.bucket(bucket).prefix(prefix + from).maxKeys(most);
              if (!after.isEmpty()) {
                request.startAfter(prefix + after);
              }
            })
            .contents()
            .stream()
            .map(S3Object::key)
            .map(key -> key.substring(prefix.length()))
            .toList());
  }

  @Override
  public void delete(List<String> keys) throws IOException {
    List<ObjectIdentifier> objects =
        keys.stream().map(key -> ObjectIdentifier.builder().key(prefix + key).build()).toList();
    List<String> failures =
        call(() ->
            client()
                .deleteObjects(request ->
                    request.bucket(bucket).delete(delete -> delete.objects(objects).quiet(true)))
                .errors()
                .stream()
                .map(error -> error.key() + ": " + error.message())
                .toList());
    if (!failures.isEmpty()) {
      throw new IOException(failures.size() + " objects are not deleted: " + failures.getFirst());
    }
  }

  @Override
  public synchronized void close() {
    if (client != null) {
      client.close();
    }
  }
}
