package io.millrace.s3;

import java.net.URI;
import java.time.Duration;
import java.util.UUID;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.nio2blob.TransientNio2BlobStore;
import software.amazon.awssdk.services.s3.S3Client;

/** S3Proxy in this process, with a bucket in memory. */
public final class S3Server {
  /** The access key that it takes, and its secret. */
  public static final String KEY = "local";

  public static final String SECRET = "secret";

  private static final String BUCKET = "bucket";

  private final S3Proxy proxy;
  private final S3Client client;

  /** Starts it, for callers on this machine. */
  public S3Server() throws Exception {
    this("127.0.0.1");
  }

  /** Starts it on an address. */
  public S3Server(String address) throws Exception {
    proxy =
        S3Proxy.builder()
            .blobStore(new TransientNio2BlobStore())
            .endpoint(URI.create("http://" + address + ":0"))
            .awsAuthentication(AuthenticationType.AWS_V2_OR_V4, KEY, SECRET)
            .build();
    proxy.start();
    client = newPlace().newClient(Duration.ofSeconds(30), 10).build();
    client.createBucket(request -> request.bucket(BUCKET));
  }

  /** Where callers on this machine find it. */
  public URI endpoint() {
    return URI.create("http://127.0.0.1:" + proxy.getPort());
  }

  /** A new prefix in its bucket. */
  public S3Address newPlace() {
    return S3Address.at(place(UUID.randomUUID().toString(), "127.0.0.1")).withKey(KEY, SECRET);
  }

  /** The address of a prefix for callers that reach this machine at {@code address}. */
  public String place(String prefix, String address) {
    return "s3://%s/%s?endpoint=http://%s:%d".formatted(BUCKET, prefix, address, proxy.getPort());
  }

  /** A client of it, to look at what others have done. */
  public S3Client client() {
    return client;
  }

  /** Stops it. */
  public void stop() throws Exception {
    client.close();
    proxy.stop();
  }
}
