package io.millrace.journal.s3;

import java.net.URI;
import java.util.UUID;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.nio2blob.TransientNio2BlobStore;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** S3Proxy in this process, with buckets in memory. */
final class S3Server {
  static final String KEY = "local";
  static final String SECRET = "secret";
  private static final String BUCKET = "bucket";

  private final S3Proxy proxy;
  private final S3Client client;

  S3Server() throws Exception {
    proxy =
        S3Proxy.builder()
            .blobStore(new TransientNio2BlobStore())
            .endpoint(URI.create("http://127.0.0.1:0"))
            .awsAuthentication(AuthenticationType.AWS_V2_OR_V4, KEY, SECRET)
            .build();
    proxy.start();
    client =
        S3Client.builder()
            .endpointOverride(endpoint())
            .region(Region.US_EAST_1)
            .forcePathStyle(true)
            .credentialsProvider(
                StaticCredentialsProvider.create(AwsBasicCredentials.create(KEY, SECRET)))
            .httpClient(Apache5HttpClient.create())
            .build();
    client.createBucket(request -> request.bucket(BUCKET));
  }

  URI endpoint() {
    return URI.create("http://127.0.0.1:" + proxy.getPort());
  }

  /** A new place for stores in the bucket. */
  S3JournalOptions newPlace() {
    return S3JournalOptions.at(
            "s3://%s/%s?endpoint=%s".formatted(BUCKET, UUID.randomUUID(), endpoint()))
        .withKey(KEY, SECRET);
  }

  void stop() throws Exception {
    client.close();
    proxy.stop();
  }
}
