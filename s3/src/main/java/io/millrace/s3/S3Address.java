package io.millrace.s3;

import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.AwsProfileRegionProvider;
import software.amazon.awssdk.regions.providers.AwsRegionProviderChain;
import software.amazon.awssdk.regions.providers.SystemSettingsRegionProvider;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;

/**
 * A bucket, and the access key for it.
 *
 * @param bucket the name of the bucket, which exists
 * @param prefix what the keys of objects begin with, without a slash at its end; empty for nothing
 * @param region the region, such as {@code eu-central-1}; null for that of the environment, and
 *     {@code us-east-1} if that has none
 * @param endpoint the address of a server other than Amazon's; null for Amazon's
 * @param accessKey the id of the access key; null for what the environment has: {@code
 *     AWS_ACCESS_KEY_ID}, profiles, the role of the machine
 * @param secretKey the secret of that key, if there is one
 */
public record S3Address(
    String bucket,
    String prefix,
    @Nullable String region,
    @Nullable URI endpoint,
    @Nullable String accessKey,
    @Nullable String secretKey) {
  /** What an address begins with. */
  public static final String SCHEME = "s3://";

  /** How long the check of a bucket may take. */
  private static final Duration CHECK = Duration.ofSeconds(15);

  private static final int NOT_FOUND = 404;

  /**
   * Checks the values.
   *
   * @throws S3AddressException if one is wrong
   */
  public S3Address {
    if (!bucket.matches("[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")) {
      throw new S3AddressException(
          "the name of a bucket has 3 to 63 small letters, digits, '-' and '.': " + bucket);
    }
    if (prefix.length() > 500 || !prefix.matches("([A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*)?")) {
      throw new S3AddressException(
          "a prefix in a bucket has up to 500 letters, digits, '-', '_', '.' and '/' between them: "
              + prefix);
    }
    if ((accessKey == null) != (secretKey == null)) {
      throw new S3AddressException("an access key of a bucket has an id and a secret");
    }
  }

  /**
   * The bucket at an address, with the access key of the environment.
   *
   * @param url {@code s3://BUCKET[/PREFIX][?region=REGION&endpoint=URL]}
   * @throws S3AddressException if it is none
   */
  public static S3Address at(String url) {
    if (!url.startsWith(SCHEME)) {
      throw new S3AddressException("the address of a bucket begins with " + SCHEME + ": " + url);
    }
    String[] halves = url.substring(SCHEME.length()).split("\\?", 2);
    String[] parts = halves[0].replaceFirst("/+$", "").split("/", 2);
    Map<String, String> query = query(url, halves.length == 1 ? "" : halves[1]);
    String region = query.remove("region");
    String endpoint = query.remove("endpoint");
    if (!query.isEmpty()) {
      throw new S3AddressException(
          "the address of a bucket may have region and endpoint, not "
              + String.join(", ", query.keySet())
              + ": "
              + url);
    }
    return new S3Address(
        parts[0],
        parts.length == 1 ? "" : parts[1],
        region,
        endpoint == null ? null : endpoint(endpoint),
        null,
        null);
  }

  private static Map<String, String> query(String url, String text) {
    Map<String, String> values = new TreeMap<>();
    for (String part : text.isEmpty() ? new String[0] : text.split("&")) {
      String[] pair = part.split("=", 2);
      if (pair.length == 1 || pair[1].isEmpty()) {
        throw new S3AddressException("an option without a value, " + part + ": " + url);
      }
      values.put(pair[0], URLDecoder.decode(pair[1], StandardCharsets.UTF_8));
    }
    return values;
  }

  private static URI endpoint(String text) {
    try {
      URI uri = URI.create(text);
      if (uri.getHost() != null && uri.getScheme().matches("https?")) {
        return uri;
      }
    } catch (IllegalArgumentException _) {
      // Said below.
    }
    throw new S3AddressException(
        "an endpoint is http://HOST[:PORT] or https://HOST[:PORT]: " + text);
  }

  /**
   * The same bucket with another prefix.
   *
   * @throws S3AddressException if it is none
   */
  public S3Address withPrefix(String other) {
    return new S3Address(bucket, other, region, endpoint, accessKey, secretKey);
  }

  /**
   * The same bucket with an access key; null for that of the environment.
   *
   * @throws S3AddressException if only one of the two is null
   */
  public S3Address withKey(@Nullable String id, @Nullable String secret) {
    return new S3Address(bucket, prefix, region, endpoint, id, secret);
  }

  /**
   * Begins to build a client for the bucket; how often it sends a request that fails, and how long
   * that may take, is for the caller to set.
   *
   * @param silence after this long without a byte, a connection counts as lost
   * @param connections how many requests and open streams there may be at once; others wait for
   *     them, up to 10 s
   */
  public S3ClientBuilder newClient(Duration silence, int connections) {
    S3ClientBuilder builder =
        S3Client.builder()
            .httpClientBuilder(
                Apache5HttpClient.builder()
                    .connectionTimeout(silence)
                    .socketTimeout(silence)
                    .maxConnections(connections)
                    .expectContinueEnabled(false))
            .credentialsProvider(credentials())
            .region(clientRegion())
            // Other servers than Amazon's do not know the newer checksums.
            .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
            .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED);
    if (endpoint != null) {
      builder.endpointOverride(endpoint).forcePathStyle(true);
    }
    return builder;
  }

  /** Makes what signs addresses of objects, so that others can read them; to be closed. */
  public S3Presigner newPresigner() {
    S3Presigner.Builder builder =
        S3Presigner.builder().credentialsProvider(credentials()).region(clientRegion());
    if (endpoint != null) {
      builder
          .endpointOverride(endpoint)
          .serviceConfiguration(S3Configuration.builder().pathStyleAccessEnabled(true).build());
    }
    return builder.build();
  }

  private AwsCredentialsProvider credentials() {
    return accessKey == null || secretKey == null
        ? DefaultCredentialsProvider.builder().build()
        : StaticCredentialsProvider.create(AwsBasicCredentials.create(accessKey, secretKey));
  }

  private Region clientRegion() {
    if (region != null) {
      return Region.of(region);
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

  /**
   * Checks that the bucket is there and the key may read it.
   *
   * @throws S3AddressException if not; the message says what is wrong
   * @throws IOException if there is no definite answer
   */
  public void check(S3Client client) throws IOException {
    try {
      client.headBucket(request ->
          request.bucket(bucket).overrideConfiguration(override -> override.apiCallTimeout(CHECK)));
    } catch (S3Exception e) {
      switch (e.statusCode()) {
        case NOT_FOUND -> throw new S3AddressException("there is no bucket " + bucket, e);
        case 401, 403 ->
            throw new S3AddressException("the access key may not read bucket " + bucket, e);
        default -> throw failure(e);
      }
    } catch (SdkException e) {
      throw failure(e);
    }
  }

  /** A failed request as an exception of input and output, with a message for people. */
  public static IOException failure(SdkException e) {
    if (e instanceof S3Exception answer) {
      String why =
          answer.awsErrorDetails() == null ? null : answer.awsErrorDetails().errorMessage();
      return new IOException(
          "status " + answer.statusCode() + (why == null ? "" : ": " + why), answer);
    }
    return new IOException(e.getMessage(), e);
  }

  /** The address, without the key. */
  @Override
  public String toString() {
    return SCHEME
        + bucket
        + (prefix.isEmpty() ? "" : "/" + prefix)
        + (endpoint == null ? "" : " at " + endpoint);
  }
}
