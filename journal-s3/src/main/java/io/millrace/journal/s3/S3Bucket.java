package io.millrace.journal.s3;

import io.millrace.journal.shared.Bucket;
import io.millrace.store.journal.JournalException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.AwsProfileRegionProvider;
import software.amazon.awssdk.regions.providers.AwsRegionProviderChain;
import software.amazon.awssdk.regions.providers.SystemSettingsRegionProvider;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
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

  /** How often a request is sent that may be repeated, if its connection fails. */
  private static final int ATTEMPTS = 3;

  /** The buckets of which this process knows that they keep conditions, by endpoint. */
  private static final Set<List<String>> TRIED = ConcurrentHashMap.newKeySet();

  private static final int FAILED_CONDITION = 412;
  private static final int NOT_FOUND = 404;

  private final S3JournalOptions options;
  private final String prefix;
  private @Nullable S3Client client;

  S3Bucket(S3JournalOptions options) {
    this.options = options;
    this.prefix =
        (options.prefix().isEmpty() ? "" : options.prefix() + "/") + options.store() + "/";
  }

  private synchronized S3Client client() {
    S3Client open = client;
    if (open == null) {
      open = connect(options);
      client = open;
    }
    return open;
  }

  private static S3Client connect(S3JournalOptions options) {
    S3ClientBuilder builder =
        S3Client.builder()
            .httpClientBuilder(
                Apache5HttpClient.builder()
                    .connectionTimeout(SILENCE)
                    .socketTimeout(SILENCE)
                    .expectContinueEnabled(false))
            .credentialsProvider(credentials(options))
            .region(region(options))
            // A create that the client repeats by itself is refused because of its own object.
            .overrideConfiguration(override ->
                override.retryStrategy(AwsRetryStrategy.doNotRetry()).apiCallTimeout(SILENCE))
            // Other servers than Amazon's do not know the newer checksums.
            .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED);
    if (options.endpoint() != null) {
      builder.endpointOverride(options.endpoint()).forcePathStyle(true);
    }
    return builder.build();
  }

  private static AwsCredentialsProvider credentials(S3JournalOptions options) {
    String id = options.accessKey();
    String secret = options.secretKey();
    return id == null || secret == null
        ? DefaultCredentialsProvider.builder().build()
        : StaticCredentialsProvider.create(AwsBasicCredentials.create(id, secret));
  }

  private static Region region(S3JournalOptions options) {
    if (options.region() != null) {
      return Region.of(options.region());
    }
    try {
      // The usual chain also asks the machine's metadata, for seconds if it is not Amazon's.
      return new AwsRegionProviderChain(
              new SystemSettingsRegionProvider(), new AwsProfileRegionProvider())
          .getRegion();
    } catch (SdkClientException _) {
      return Region.US_EAST_1;
    }
  }

  /** Sends a request that may be repeated, again if its connection fails. */
  private static <T extends @Nullable Object> T call(Supplier<T> request) throws IOException {
    for (int attempt = 1; ; attempt++) {
      try {
        return request.get();
      } catch (S3Exception e) {
        String why = e.awsErrorDetails() == null ? null : e.awsErrorDetails().errorMessage();
        throw new IOException("status " + e.statusCode() + (why == null ? "" : ": " + why), e);
      } catch (SdkException e) {
        if (attempt == ATTEMPTS) {
          throw new IOException(e.getMessage(), e);
        }
      }
    }
  }

  @Override
  public void check() throws IOException {
    try {
      client().headBucket(request -> request.bucket(options.bucket()));
    } catch (S3Exception e) {
      switch (e.statusCode()) {
        case NOT_FOUND -> throw new JournalException("there is no bucket " + options.bucket(), e);
        case 401, 403 ->
            throw new JournalException("the access key may not read bucket " + options.bucket(), e);
        default -> throw new IOException("status " + e.statusCode(), e);
      }
    } catch (SdkException e) {
      throw new IOException(e.getMessage(), e);
    }
    if (options.accepted().contains(S3JournalOptions.EXPIRY)) {
      return;
    }
    try {
      for (LifecycleRule rule :
          client()
              .getBucketLifecycleConfiguration(request -> request.bucket(options.bucket()))
              .rules()) {
        if (rule.status() == ExpirationStatus.ENABLED && rule.expiration() != null) {
          throw new JournalException(
              "rule '%s' of bucket %s deletes objects by their age, so that commits may be lost;"
                      .formatted(rule.id(), options.bucket())
                  + " remove it, or accept it by store.accept = expiry if it is for other keys");
        }
      }
    } catch (S3Exception e) {
      if (e.statusCode() != NOT_FOUND) {
        LOG.info(
            "the rules of bucket {} that may delete objects cannot be read: status {}",
            options.bucket(),
            e.statusCode());
      }
    } catch (SdkException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  @Override
  public void prepare() throws IOException {
    check();
    List<String> tried = List.of(String.valueOf(options.endpoint()), options.bucket());
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
              request -> request.bucket(options.bucket()).key(prefix + key).ifNoneMatch("*"),
              RequestBody.fromBytes(content));
      return true;
    } catch (S3Exception e) {
      if (e.statusCode() == FAILED_CONDITION) {
        return false;
      }
      throw new IOException("status " + e.statusCode() + " for " + key, e);
    } catch (SdkException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  @Override
  public void put(String key, byte[] content) throws IOException {
    call(() ->
        client()
            .putObject(
                request -> request.bucket(options.bucket()).key(prefix + key),
                RequestBody.fromBytes(content)));
  }

  @Override
  public byte @Nullable [] get(String key) throws IOException {
    return S3Bucket.<byte @Nullable []>call(() -> {
      try {
        return client()
            .getObjectAsBytes(request -> request.bucket(options.bucket()).key(prefix + key))
            .asByteArrayUnsafe();
      } catch (NoSuchKeyException _) {
        return null;
      }
    });
  }

  @Override
  public List<byte @Nullable []> getAll(List<String> keys) throws IOException {
    if (keys.size() == 1) {
      return Bucket.super.getAll(keys);
    }
    List<Future<byte @Nullable []>> reads = new ArrayList<>();
    try (ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
      for (String key : keys) {
        reads.add(readers.submit(() -> get(key)));
      }
      List<byte @Nullable []> contents = new ArrayList<>();
      for (Future<byte @Nullable []> read : reads) {
        contents.add(read.get());
      }
      return contents;
    } catch (ExecutionException e) {
      throw new IOException(e.getCause() == null ? "failed" : e.getCause().getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  @Override
  public List<String> list(String from, String after, int most) throws IOException {
    return call(() ->
        client()
            .listObjectsV2(request -> {
              request.bucket(options.bucket()).prefix(prefix + from).maxKeys(most);
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
                    request
                        .bucket(options.bucket())
                        .delete(delete -> delete.objects(objects).quiet(true)))
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
