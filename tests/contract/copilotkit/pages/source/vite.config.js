import react from "@vitejs/plugin-react";

export default {
  plugins: [react()],
  build: { minify: false, sourcemap: false, reportCompressedSize: false },
  logLevel: "warn",
};
