package io.millrace.work;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** The certificates that a client trusts over TLS. */
public final class TrustedCertificates {
  private TrustedCertificates() {}

  /**
   * A context that trusts the certificates in a file, and no others.
   *
   * @param file PEM or DER; null for the authorities that the JVM trusts
   * @throws IllegalArgumentException if the file cannot be read or holds no certificates
   */
  public static SSLContext context(@Nullable Path file) {
    try {
      return file == null ? SSLContext.getDefault() : contextOf(file);
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalArgumentException("cannot read the certificates in " + file + ": " + e, e);
    }
  }

  private static SSLContext contextOf(Path file) throws IOException, GeneralSecurityException {
    KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null, null);
    try (InputStream in = Files.newInputStream(file)) {
      for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        trusted.setCertificateEntry("trusted-" + trusted.size(), one);
      }
    }
    if (trusted.size() == 0) {
      throw new IllegalArgumentException("there is no certificate in " + file);
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }
}
